// A button on each block of code that copies what is shown of it, and says so.

const SAID_FOR_MS = 2_000

export function addCopyButtons(): void {
  for (const block of document.querySelectorAll<HTMLElement>('.code')) {
    const title = block.querySelector('.code-title')
    if (title === null) continue
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    button.setAttribute('aria-label', `Copy: ${block.getAttribute('aria-label')}`)
    const said = document.createElement('span')
    said.className = 'unseen'
    said.setAttribute('role', 'status')
    button.addEventListener('click', async () => {
      const isCopied = await copy(shownCode(block))
      button.textContent = isCopied ? 'Copied' : 'Select and copy it by hand'
      said.textContent = button.textContent
      setTimeout(() => {
        button.textContent = 'Copy'
        said.textContent = ''
      }, SAID_FOR_MS)
    })
    title.after(button, said)
  }
}

const shownCode = (block: HTMLElement): string => {
  const shown = [...block.querySelectorAll('pre')].find(code => code.checkVisibility())
  return shown?.textContent ?? ''
}

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // A page without https has no clipboard of its own. The old command works there.
    return copyByCommand(text)
  }
}

function copyByCommand(text: string): boolean {
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'unseen'
  document.body.append(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  return isCopied
}
