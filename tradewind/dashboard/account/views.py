"""The user agent of a session as people read it, such as "Firefox on Windows". Pure."""

import re

# Browsers that also name another one come before it.
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


def user_agent_name(user_agent: str) -> str:
    """Browser and system of a browser, name and version of a program, or "Unknown"."""
    text = user_agent.strip()
    if text.startswith("Mozilla/"):
        browser = next((name for mark, name in _BROWSERS if mark in text), "A browser")
        system = next((name for mark, name in _SYSTEMS if mark in text), "")
        return f"{browser} on {system}" if system else browser
    program = _PROGRAM.match(text)
    if program is None:
        return "Unknown"
    return f"{program[1].strip()} {program[2]}".strip()[:_LONGEST]
