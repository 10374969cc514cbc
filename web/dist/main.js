document.getElementById("app").textContent="Parallax";
