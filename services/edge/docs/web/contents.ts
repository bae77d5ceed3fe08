// The navigation: marks the section that is being read, and on narrow screens shows the contents by a button.

/** A section is being read once its heading is this far from the top of the window. */
const READING_LINE_PX = 140

export function followReading(): void {
  const contents = document.querySelector<HTMLElement>('#contents')
  if (contents === null) return
  const sections = [...contents.querySelectorAll<HTMLAnchorElement>('li li a[href^="#"]')].flatMap(link => {
    const heading = document.getElementById(link.hash.slice(1))
    return heading === null ? [] : [{ link, heading }]
  })
  let current: HTMLAnchorElement | undefined

  function mark(): void {
    const isAtEnd = scrollY + innerHeight >= document.documentElement.scrollHeight - 2
    const read = sections.findLast(({ heading }) => heading.getBoundingClientRect().top <= READING_LINE_PX)
    const link = (isAtEnd ? sections.at(-1) : read)?.link
    if (link === current) return
    current?.removeAttribute('aria-current')
    current = link
    link?.setAttribute('aria-current', 'location')
    if (link !== undefined) keepInView(link)
  }

  function keepInView(link: HTMLElement): void {
    const place = link.getBoundingClientRect()
    const frame = contents?.getBoundingClientRect()
    if (contents === null || frame === undefined || place.height === 0) return
    if (place.top < frame.top + 40) contents.scrollTop -= frame.top + 40 - place.top
    if (place.bottom > frame.bottom - 40) contents.scrollTop += place.bottom - frame.bottom + 40
  }

  let isWaiting = false
  const markSoon = (): void => {
    if (isWaiting) return
    isWaiting = true
    requestAnimationFrame(() => {
      isWaiting = false
      mark()
    })
  }
  addEventListener('scroll', markSoon, { passive: true })
  addEventListener('resize', markSoon)
  mark()
}

export function addContentsButton(): void {
  const button = document.querySelector<HTMLButtonElement>('#toggle-contents')
  const contents = document.querySelector<HTMLElement>('#contents')
  if (button === null || contents === null) return
  const show = (isShown: boolean): void => {
    document.body.classList.toggle('contents-open', isShown)
    button.setAttribute('aria-expanded', String(isShown))
  }
  document.body.classList.add('contents-fold')
  button.hidden = false
  button.addEventListener('click', () => show(!document.body.classList.contains('contents-open')))
  contents.addEventListener('click', event => {
    if ((event.target as Element).closest('a')) show(false)
  })
  addEventListener('keydown', event => {
    if (event.key !== 'Escape' || !document.body.classList.contains('contents-open')) return
    show(false)
    button.focus()
  })
}
