// Shows the HTML part of a mail as a mail program would, without pictures. What an app has written is not trusted:
// public/mail-frame.js shows it in a page of no origin, where nothing runs and nothing is loaded.
import { useEffect, useRef, useState } from 'preact/hooks'

export function MailFrame({ html }: { html: string }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const [isLoaded, setLoaded] = useState(false)
  useEffect(() => {
    // Its origin has no name.
    if (isLoaded) frame.current?.contentWindow?.postMessage(html, '*')
  }, [html, isLoaded])
  return (
    <iframe
      ref={frame}
      class="settings-mail"
      title="HTML part"
      src="/mail-frame.html"
      sandbox="allow-scripts"
      onLoad={() => setLoaded(true)}
    />
  )
}
