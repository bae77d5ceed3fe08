// Says that something was done, for a few seconds, without moving anything. In: a sentence. Refusals are not said here: they stay beside
// what was refused.
import { type ComponentChildren, createContext } from 'preact'
import { useCallback, useContext, useState } from 'preact/hooks'

const SHOWN_FOR_MS = 5_000

type Say = (sentence: string) => void

const ToastContext = createContext<Say>(() => {})

/** `const say = useToast(); say('The key was revoked.')` */
export const useToast = (): Say => useContext(ToastContext)

let made = 0

export function Toasts({ children }: { children: ComponentChildren }) {
  const [toasts, setToasts] = useState<{ id: number; sentence: string }[]>([])
  const say = useCallback((sentence: string) => {
    made += 1
    const id = made
    setToasts(old => [...old, { id, sentence }])
    setTimeout(() => setToasts(old => old.filter(toast => toast.id !== id)), SHOWN_FOR_MS)
  }, [])
  return (
    <ToastContext.Provider value={say}>
      {children}
      <div class="toasts" role="status">
        {toasts.map(({ id, sentence }) => (
          <p key={id} class="toast">
            {sentence}
          </p>
        ))}
      </div>
    </ToastContext.Provider>
  )
}
