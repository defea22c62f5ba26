// Before anything is painted: the theme that was chosen here, or that of the system.
"use strict";
{
  const chosen = localStorage.getItem("blendwright-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
