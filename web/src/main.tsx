import "./main.css";
document.getElementById("app")!.textContent = "Parallax";
