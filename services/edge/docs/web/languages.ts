// The tabs of the samples. In: the samples of the page, each with one block of code per language, and the choice of a language at the top.
// Out: tabs on each sample. One choice counts for all of them and is remembered.
import { betweenVisits } from './stored.ts'

const STORED_NAME = 'docs-language'

interface Sample {
  tabs: HTMLButtonElement[]
}

export function addLanguageTabs(): void {
  const choices = [...document.querySelectorAll<HTMLInputElement>('input[name="language"]')]
  const names = new Map(choices.map(choice => [choice.value, choice.parentElement?.textContent?.trim() ?? '']))
  const samples: Sample[] = []

  /** The style shows the block of code of the checked choice. */
  function choose(language: string): void {
    for (const choice of choices) choice.checked = choice.value === language
    for (const { tabs } of samples)
      for (const tab of tabs) {
        const isSelected = tab.value === language
        tab.setAttribute('aria-selected', String(isSelected))
        tab.tabIndex = isSelected ? 0 : -1
      }
    betweenVisits.write(STORED_NAME, language)
  }

  /** Samples above may become longer or shorter: the tab stays under the pointer. */
  function chooseBy(tab: HTMLButtonElement): void {
    const before = tab.getBoundingClientRect().top
    choose(tab.value)
    scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: 'instant' })
  }

  function moveWithin(tabs: readonly HTMLButtonElement[], event: KeyboardEvent): void {
    const at = tabs.indexOf(event.target as HTMLButtonElement)
    const steps: Record<string, number> = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tabs.length - 1 }
    const step = steps[event.key]
    const next = step === undefined ? undefined : tabs[(step + tabs.length) % tabs.length]
    if (next === undefined) return
    event.preventDefault()
    chooseBy(next)
    next.focus({ preventScroll: true })
  }

  for (const [at, sample] of [...document.querySelectorAll('.sample')].entries()) {
    const list = document.createElement('div')
    list.className = 'tabs'
    list.setAttribute('role', 'tablist')
    list.setAttribute('aria-label', 'Language')
    const tabs = [...sample.querySelectorAll<HTMLElement>('pre[data-language]')].map(panel => {
      const language = panel.dataset.language ?? ''
      const tab = document.createElement('button')
      tab.type = 'button'
      tab.value = language
      tab.textContent = names.get(language) ?? language
      tab.id = `tab-${at}-${language}`
      tab.setAttribute('role', 'tab')
      panel.id = `panel-${at}-${language}`
      panel.setAttribute('role', 'tabpanel')
      panel.setAttribute('aria-labelledby', tab.id)
      tab.setAttribute('aria-controls', panel.id)
      tab.addEventListener('click', () => chooseBy(tab))
      return tab
    })
    list.append(...tabs)
    list.addEventListener('keydown', event => moveWithin(tabs, event))
    sample.querySelector('.code-head')?.append(list)
    samples.push({ tabs })
  }

  for (const choice of choices) choice.addEventListener('change', () => choose(choice.value))
  const stored = betweenVisits.read(STORED_NAME) ?? ''
  choose(names.has(stored) ? stored : (choices[0]?.value ?? ''))
}
