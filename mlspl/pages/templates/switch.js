
// Without scripts every data set is shown, one below the other; with them, the chosen one. The style sheet knows.
function show(choice) {
  for (const panel of document.querySelectorAll(".panel")) {
    panel.classList.toggle("chosen", panel.id === choice.value);
  }
}

for (const choice of document.querySelectorAll("input[name=block]")) {
  choice.addEventListener("change", () => show(choice));
  // A browser may have restored the choice of an earlier visit.
  if (choice.checked) show(choice);
}
