// Applies the chosen theme, or the one of the system, before the browser paints anything.
"use strict";
{
  const chosen = localStorage.getItem("blendwright-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
