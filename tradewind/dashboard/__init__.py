"""The dashboard: the same use cases as the API, as pages for people.

A page is an endpoint of a `Routes("…", tag="Dashboard", hidden=True, pages=True)` in a
`…_routes.py` of its own, listed in `pages.py`. Its caller (`Caller`, `Buyer`, `Approver`,
`Operator`) comes from the session cookie. A GET answers `renderer.page(template, request, me,
…)`; a POST takes a struct that derives from `web.site.Form`, calls one use case and answers
`renderer.to(me, "/where", …)`, so that reloading never repeats it. What can be wrong with a form
is caught and shown again with `errors=forms.errors_of(refusal)`; every other refusal finds its
own way to a page.

A template extends `layout.html` and imports `parts.html` with context; nothing in it has a style
attribute or a script of its own: the content security policy would not let it.
"""
