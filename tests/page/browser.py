"""Drives Chromium over its DevTools protocol through two pipes. The browser is the only dependency."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find():
    """The path of the browser, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        if path := shutil.which(name):
            return path
    return None


SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(1), 0))))"


class Failure(Exception):
    pass


class Browser:
    def __init__(self, path):
        self.folder = tempfile.mkdtemp(prefix="shoal-browser-")
        browser_read_end, self.write_end = os.pipe()
        self.read_end, browser_write_end = os.pipe()
        # The browser reads from descriptor 3 and writes to descriptor 4.
        def descriptors():
            os.dup2(browser_read_end, 30)
            os.dup2(browser_write_end, 31)
            os.dup2(30, 3)
            os.dup2(31, 4)
            for each in (3, 4):
                os.set_inheritable(each, True)
        self.process = subprocess.Popen(
            [path, "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--hide-scrollbars", "--disable-gpu", "--disable-frame-rate-limit",
             "--no-first-run", "--disable-background-networking", "--disable-component-update", "--force-color-profile=srgb",
             f"--user-data-dir={self.folder}", "about:blank"],
            preexec_fn=descriptors, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(browser_read_end)
        os.close(browser_write_end)
        self.buffer = b""
        self.number = 0
        self.events = []

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def renderer_seconds(self, kind=b"--type=renderer"):
        """CPU seconds of the pages (kind=b"": of the whole browser). Other load on the machine does not affect them."""
        ticks = 0
        for folder in os.listdir("/proc"):
            if not folder.isdigit():
                continue
            try:
                with open(f"/proc/{folder}/cmdline", "rb") as file:
                    line = file.read()
                if self.folder.encode() not in line or kind not in line:
                    continue
                with open(f"/proc/{folder}/stat") as file:
                    fields = file.read().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
            except OSError:
                pass
        return ticks / os.sysconf("SC_CLK_TCK")

    def receive(self, until):
        while b"\0" not in self.buffer:
            if not select.select([self.read_end], [], [], max(until - time.monotonic(), 0))[0]:
                raise Failure("the browser does not respond")
            data = os.read(self.read_end, 1 << 20)
            if not data:
                raise Failure("the browser has exited")
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, timeout=120, **parameters):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        until = time.monotonic() + timeout
        while True:
            answer = self.receive(until)
            if answer.get("id") == number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def page(self, width=1440, height=900, dark=False):
        return Page(self, width, height, dark)


class Page:
    """A tab. problems() returns its errors and network requests."""

    def __init__(self, browser, width, height, dark):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.size(width, height)
        self.theme(dark)

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def size(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def theme(self, dark):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def open(self, path, fragment="", timeout=60):
        """Loads the file. Returns the seconds until its script is ready or has failed; `cpu_seconds` is the CPU time."""
        self.browser.events.clear()
        self.call("Page.navigate", url="about:blank")
        before = self.browser.renderer_seconds()
        self.call("Page.navigate", url=f"file://{os.path.abspath(path)}{'#' + fragment if fragment else ''}")
        self.until("Boolean((window.shoal && window.shoal.ready) || document.getElementById('failure'))", timeout)
        self.cpu_seconds = self.browser.renderer_seconds() - before
        return self.js("performance.now()") / 1000

    def go(self, fragment):
        """Goes to another address of the open page, as a link would."""
        self.js(f"(location.hash = {json.dumps('#' + fragment)}, 1)")
        view = fragment.partition("&")[0]
        self.until(f"window.shoal.state().view === {json.dumps(view)}")
        self.settled()

    def painted(self):
        """Seconds from the start of loading to the first contentful paint."""
        return (self.js("performance.getEntriesByName('first-contentful-paint')[0]?.startTime") or 0) / 1000

    def js(self, expression):
        result = self.call("Runtime.evaluate", expression=f"(async () => ({expression}))()", returnByValue=True, awaitPromise=True,
                           allowUnsafeEvalBlockedByCSP=False)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failure(f"{expression[:80]}: {details.get('exception', {}).get('description', details['text'])}")
        return result["result"].get("value")

    def until(self, expression, timeout=60):
        end = time.monotonic() + timeout
        while True:
            try:
                if value := self.js(expression):
                    return value
            except Failure:
                pass
            if time.monotonic() > end:
                raise Failure(f"timeout waiting for: {expression[:100]}")
            time.sleep(0.02)

    def settled(self):
        """Waits for two frames, so that pending changes are drawn."""
        self.js(SETTLED)

    def state(self):
        """The page's state after pending changes are drawn."""
        return self.js(f"(await {SETTLED}, window.shoal.state())")

    def key(self, key, shift=False, alt=False, wait=True):
        codes = {"ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35, "Enter": 13,
                 "Escape": 27, "PageDown": 34, "PageUp": 33, "Backspace": 8, "Tab": 9}
        code = codes.get(key, ord(key.upper()) if len(key) == 1 else 0)
        event = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": (8 if shift else 0) | (1 if alt else 0)}
        self.call("Input.dispatchKeyEvent", type="keyDown", **event, **({"text": key} if len(key) == 1 else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)
        if wait:
            self.settled()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settled()

    def mouse(self, kind, x, y, buttons=0, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left" if buttons or kind != "mouseMoved" else "none",
                  buttons=buttons, clickCount=1, **more)

    def click(self, x, y):
        self.mouse("mousePressed", x, y, 1)
        self.mouse("mouseReleased", x, y)
        self.settled()

    def click_on(self, selector):
        x, y = self.js(f"(r => [r.x + Math.min(r.width / 2, 60), r.y + r.height / 2])(document.querySelector({json.dumps(selector)}).getBoundingClientRect())")
        self.click(x, y)

    def drag(self, x, y, to_x, to_y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, 1)
        for part in (0.3, 0.7, 1):
            self.mouse("mouseMoved", x + (to_x - x) * part, y + (to_y - y) * part, 1)
        self.mouse("mouseReleased", to_x, to_y)
        self.settled()

    def wheel(self, x, y, by, ctrl=False):
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=by, modifiers=2 if ctrl else 0)
        self.settled()

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def problems(self):
        """Console messages, exceptions, and requests for anything but the page itself."""
        self.settled()
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append("exception: " + parameters["exceptionDetails"].get("exception", {}).get("description", "?"))
            elif method == "Runtime.consoleAPICalled":
                found.append("console: " + str([each.get("value") for each in parameters["args"]]))
            elif method == "Log.entryAdded":
                found.append("log: " + parameters["entry"]["text"])
            elif method == "Network.requestWillBeSent":
                url = parameters["request"]["url"]
                if not url.startswith(("file://", "about:", "data:", "blob:")):
                    found.append("request: " + url[:100])
        return found
