"""The dashboard: the use cases of the API as pages for people.

Every area has a folder with `routes` (URL, caller, one use case, page or redirect), `queries` (the
SQL of its pages, which returns typed values), `views` (pure: what the template shows) and its own
`templates/`. The caller (`Caller`, `Buyer`, `Approver`, `Operator`) comes from the session cookie.

A GET returns `renderer.page("area/template.html", request, caller, …)`. A POST takes a struct that
derives from `web.site.Form`, calls one use case and returns `renderer.redirect(caller, path, …)`,
so that reloading does not repeat it. Errors of a form are shown in the form, by field
(`forms.errors_of(error)`); every other error becomes an error page.

A template extends `shell/layout.html` and imports `shell/parts.html` with context. It has no inline
style or script: the content security policy forbids both.
"""
