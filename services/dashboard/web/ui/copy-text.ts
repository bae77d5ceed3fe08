// Puts a text on the clipboard. Out: whether it is there. Pages over plain http, as on a private network, have no clipboard of the modern
// kind; there the older command is tried, because a key that is shown once must not be taken for copied when it is not.

export async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text)
      return true
    }
  } catch {
    // The viewer has forbidden it; the older command may still work.
  }
  return copyByCommand(text)
}

function copyByCommand(text: string): boolean {
  let taken = false
  const give = (event: ClipboardEvent) => {
    event.clipboardData?.setData('text/plain', text)
    event.preventDefault()
    taken = true
  }
  document.addEventListener('copy', give)
  try {
    return document.execCommand('copy') && taken
  } finally {
    document.removeEventListener('copy', give)
  }
}
