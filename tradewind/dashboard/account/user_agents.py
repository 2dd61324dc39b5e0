"""Browsers in words: what opened a session, by what it calls itself. Pure."""

import re

# Those first that pretend to be one of the others as well.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Vivaldi", "Vivaldi"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("HeadlessChrome", "Headless Chrome"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "an iPhone"),
    ("iPad", "an iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Macintosh", "a Mac"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)
_LONGEST = 60
_PROGRAM = re.compile(r"^([A-Za-z][\w.+ -]*)/?([\d.]*)")


def in_words(user_agent: str) -> str:
    """`Firefox on Windows`; a program by its own name; and what says nothing, as unknown."""
    text = user_agent.strip()
    if text.startswith("Mozilla/"):
        browser = next((name for mark, name in _BROWSERS if mark in text), "A browser")
        system = next((name for mark, name in _SYSTEMS if mark in text), "")
        return f"{browser} on {system}" if system else browser
    found = _PROGRAM.match(text)
    if found is None:
        return "Unknown"
    return f"{found[1].strip()} {found[2]}".strip()[:_LONGEST]
