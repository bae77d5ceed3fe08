// Puts the address under which the page was opened into the samples. The server marks the places where no PUBLIC_URL says it.

export function showBaseAddress(): void {
  for (const place of document.querySelectorAll('[data-base]')) place.textContent = location.origin
}
