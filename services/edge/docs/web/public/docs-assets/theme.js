// Before the first paint: light or dark as the viewer chose, so that the page does not flash. Without a choice the system's setting holds.
try {
  const theme = localStorage.getItem('theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Without storage the system's setting holds.
}
