{{- define "tradewind.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 48 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 48 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "tradewind.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tradewind.labels" -}}
{{ include "tradewind.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "tradewind.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{ else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* What every pod of Tradewind has: no rights, and no token of the cluster. */}}
{{- define "tradewind.pod" -}}
automountServiceAccountToken: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
volumes:
  - name: tmp
    emptyDir: {medium: Memory, sizeLimit: 64Mi}
{{- end }}

{{/* What every container of Tradewind has. */}}
{{- define "tradewind.container" -}}
image: {{ include "tradewind.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
env:
  - name: TRADEWIND_PUBLIC_URL
    value: {{ required "publicUrl is the URL by which callers reach the API, with https." .Values.publicUrl | quote }}
  - name: TRADEWIND_SECRET_KEY
    valueFrom:
      secretKeyRef: {name: {{ .Values.secretKey.existingSecret }}, key: {{ .Values.secretKey.key }}}
  - name: TRADEWIND_DATABASE_URL
    valueFrom:
      secretKeyRef:
        {{- if .Values.database.cloudnativepg.enabled }}
        name: {{ include "tradewind.name" . }}-database-app
        key: uri
        {{- else }}
        name: {{ .Values.database.existingSecret }}
        key: {{ .Values.database.key }}
        {{- end }}
  - name: TRADEWIND_TRUSTED_PROXIES
    value: {{ join "," .Values.trustedProxies | quote }}
  - name: TRADEWIND_WEBHOOK_PORTS
    value: {{ join "," .Values.networkPolicy.webhookPorts | quote }}
  {{- range $name, $value := .Values.settings }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
{{- with .Values.settingsFrom }}
envFrom:
  {{- range . }}
  - secretRef: {name: {{ . }}}
  {{- end }}
{{- end }}
{{- end }}
