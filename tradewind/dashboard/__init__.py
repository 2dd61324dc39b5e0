"""The dashboard: the use cases of the API as pages for people.

Every area has a folder with `routes` (URL, caller, one use case, page or redirect), `queries` (the
SQL of its pages, which returns typed values), `views` (pure: what the template shows) and its own
`templates/`. The caller (`Caller`, `Buyer`, `Approver`, `Operator`) comes from the session cookie.

A GET returns `TemplatePage("area/template.html", …)`. A POST takes a struct that derives from
`web.site.Form`, calls one use case and returns `Redirect(path, message)`, so that reloading does
not repeat it. If its form is rejected, it returns the page of the GET as `page.rejected(error, …)`,
with the errors by field and what was typed. Every other error becomes an error page.

`PageRoutes` renders what a route returns. To add an area, list its folder in `shell/render.py` and
its routes in `pages.py`.

A template extends `shell/layout.html` and imports `shell/parts.html` with context. It has no inline
style or script: the content security policy forbids both.
"""
