"""Drives Firefox over Marionette, JSON messages on a socket. The browser is the only dependency."""

import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time


def find():
    """The path of the browser, or None."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    def __init__(self, path, width=1440, height=900):
        self.folder = tempfile.mkdtemp(prefix="shoal-firefox-")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with open(os.path.join(self.folder, "user.js"), "w") as file:
            for name, value in {"marionette.port": port, "app.update.enabled": False, "datareporting.policy.dataSubmissionEnabled": False,
                                "toolkit.telemetry.enabled": False, "browser.shell.checkDefaultBrowser": False, "network.captive-portal-service.enabled": False,
                                "network.connectivity-service.enabled": False}.items():
                file.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
        self.process = subprocess.Popen(
            [path, "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", f"--width={width}", f"--height={height}", "--profile", self.folder, "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, MOZ_HEADLESS="1", HOME=self.folder))
        self.number = 0
        self.buffer = b""
        self.socket = None
        try:
            self.socket = self.connect(port)
            self.receive()  # the greeting
            self.call("WebDriver:NewSession", capabilities={"alwaysMatch": {"timeouts": {"script": 60000, "pageLoad": 60000}}})
        except OSError:
            self.close()
            raise

    def connect(self, port):
        end = time.monotonic() + 180
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=180)
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise
                time.sleep(0.1)

    def close(self):
        if self.socket:
            self.socket.close()
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def receive(self):
        while b":" not in self.buffer:
            self.buffer += self.socket.recv(1 << 16) or self.fail_closed()
        size, _, rest = self.buffer.partition(b":")
        while len(rest) < int(size):
            rest += self.socket.recv(1 << 20) or self.fail_closed()
        self.buffer = rest[int(size):]
        return json.loads(rest[:int(size)])

    def fail_closed(self):
        raise OSError("the browser closed the connection")

    def call(self, command, **parameters):
        self.number += 1
        message = json.dumps([0, self.number, command, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self.receive()
        if error:
            raise OSError(f"{command}: {error['message']}")
        return result.get("value") if isinstance(result, dict) and "value" in result else result

    def open(self, path, fragment=""):
        self.call("WebDriver:Navigate", url="about:blank")
        self.call("WebDriver:Navigate", url=f"file://{os.path.abspath(path)}#{fragment}")
        end = time.monotonic() + 60
        while not self.js("return Boolean((window.shoal && window.shoal.ready) || document.getElementById('failure'))"):
            if time.monotonic() > end:
                raise OSError("timeout waiting for the page")
            time.sleep(0.05)

    def js(self, script):
        return self.call("WebDriver:ExecuteScript", script=script, args=[])

    def state(self):
        """The page's state two frames later, when pending changes are drawn."""
        return json.loads(self.call("WebDriver:ExecuteAsyncScript", args=[], script="""
          const done = arguments[0];
          requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(JSON.stringify(window.shoal.state())), 0)));"""))

    def key(self, key):
        actions = [{"type": "key", "id": "keys", "actions": [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]}]
        self.call("WebDriver:PerformActions", actions=actions)

    def console_messages(self, path):
        """Console messages about the page: errors, and requests blocked by its Content-Security-Policy."""
        self.call("Marionette:SetContext", value="chrome")
        try:
            return [each for each in self.js("return Services.console.getMessageArray().map(each => String(each.message))") if os.path.basename(path) in each]
        finally:
            self.call("Marionette:SetContext", value="content")

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("WebDriver:TakeScreenshot", full=False)))
