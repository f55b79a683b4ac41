"""A headless Chromium, spoken to through its DevTools pipe: nothing beside it is needed."""

import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


class BrowserError(Exception):
    pass


def program():
    """The browser's path, or nothing where there is none."""
    given = os.environ.get("WEFT_BROWSER")
    return given if given else next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page: load it, run JavaScript in it, take its picture. To be used in a with statement."""

    def __init__(self, seconds=60):
        path = program()
        if not path:
            raise BrowserError("no Chromium here (Debian: apt-get install chromium; WEFT_BROWSER names another place)")
        self.seconds, self.number, self.buffer = seconds, 0, b""
        self.errors = []
        self.profile = tempfile.mkdtemp(prefix="weft-browser-")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        # The browser reads from descriptor 3 and writes to 4; a shell puts them there.
        words = [path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={self.profile}",
                 "--window-size=1360,1000", "about:blank"]
        self.process = subprocess.Popen(["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "browser", *words], pass_fds=(to_browser, from_browser),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        os.set_blocking(self.read_end, False)
        try:
            target = self.send("Target.createTarget", {"url": "about:blank"}, session=False)["targetId"]
            self.session = self.send("Target.attachToTarget", {"targetId": target, "flatten": True}, session=False)["sessionId"]
            for domain in ("Page", "Runtime", "Network"):
                self.send(f"{domain}.enable")
        except Exception:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        for end in (self.write_end, self.read_end):
            os.close(end)
        shutil.rmtree(self.profile, ignore_errors=True)

    def message(self, deadline):
        while b"\0" not in self.buffer:
            if time.monotonic() > deadline:
                raise BrowserError(f"the browser did not answer within {self.seconds} s")
            try:
                part = os.read(self.read_end, 1 << 20)
            except BlockingIOError:
                time.sleep(0.01)
                continue
            if not part:
                raise BrowserError("the browser ended early")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def send(self, method, parameters=None, session=True):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters or {}} | ({"sessionId": self.session} if session else {})
        data = json.dumps(request).encode() + b"\0"
        while data:
            data = data[os.write(self.write_end, data):]
        deadline = time.monotonic() + self.seconds
        while True:
            answer = self.message(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error'].get('message')}")
                return answer["result"]
            self.noted(answer)

    def noted(self, event):
        """Errors of the page's script, and whatever it asks the network for."""
        kind, detail = event.get("method"), event.get("params", {})
        if kind == "Runtime.exceptionThrown":
            self.errors.append(detail["exceptionDetails"].get("exception", {}).get("description") or detail["exceptionDetails"].get("text", "an error"))
        if kind == "Network.requestWillBeSent" and not detail["request"]["url"].startswith(("file:", "data:", "about:")):
            self.errors.append(f"it asks the network for {detail['request']['url']}")

    def load(self, path):
        self.send("Page.navigate", {"url": path.resolve().as_uri()})
        deadline = time.monotonic() + self.seconds
        while self.run("document.readyState") != "complete" or not self.run("location.href").startswith("file:"):
            if time.monotonic() > deadline:
                raise BrowserError(f"{path} did not load within {self.seconds} s")
            time.sleep(0.05)

    def run(self, script):
        """The value of an expression in the page."""
        result = self.send("Runtime.evaluate", {"expression": script, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in result:
            raise BrowserError(f"{script[:80]}: {result['exceptionDetails'].get('exception', {}).get('description', 'error')}")
        return result["result"].get("value")

    def theme(self, name):
        self.send("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})

    def picture(self, path, whole=False):
        parameters = {"format": "png"}
        if whole:
            size = self.send("Page.getLayoutMetrics")["cssContentSize"]
            parameters |= {"captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", parameters)["data"]))
