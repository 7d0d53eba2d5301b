"use strict";
const list = document.querySelector("main");
if (list.dataset.watch === "true") {
  const address = list.dataset.list + "?limit=1" + (list.dataset.to ? "&to=" + encodeURIComponent(list.dataset.to) : "");
  setInterval(async () => {
    if (document.hidden) return;
    try {
      const newest = (await (await fetch(address)).json())[list.dataset.member][0];
      if (String(newest ? newest.id : 0) !== list.dataset.newest) location.reload();
    } catch { /* the server is restarting; the next look finds it */ }
  }, 2000);
}
