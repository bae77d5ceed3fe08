// The providers of an app, by channel in the order they are tried. In: the app. Out: providers added, tested, ordered, changed and deleted,
// and the state of each one's circuit breaker, live.
import { useEffect, useRef, useState } from 'preact/hooks'
import { CONSOLE_APP_ID } from '../../../../domain/tenancy/console.ts'
import { Problem } from '../../api/problem.ts'
import { CHANNEL_OPTIONS, type Channel, channelName } from '../../data/channels.ts'
import { countryName } from '../../data/countries.ts'
import { onlyRole } from '../../data/role-words.ts'
import { useMay } from '../../data/session.tsx'
import { useApp } from '../../data/tenant.tsx'
import { useChange } from '../../data/use-change.ts'
import { useQuery } from '../../data/use-query.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Empty } from '../../ui/empty.tsx'
import { Notice, ProblemNotice } from '../../ui/notice.tsx'
import { Reading } from '../../ui/reading.tsx'
import { Screen } from '../../ui/screen.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { CountrySplit } from './country-split.tsx'
import {
  changeProvider,
  deleteProvider,
  isKnown,
  listProviders,
  type Provider,
  savePositions,
} from './provider-calls.ts'
import { ProviderDialog } from './provider-dialog.tsx'
import { moveButtonId, ProviderItem } from './provider-item.tsx'
import { positionsAfterMove, type Step, splitByCountry, withPositions } from './provider-order.ts'
import { deletionWords, stopWords } from './provider-words.ts'
import './providers.css'
import { TestDialog } from './test-dialog.tsx'

/** Breakers change by themselves. */
const REFRESH_MS = 10_000
const ADD_BUTTON_ID = 'providers-add'

type Open =
  | { dialog: 'add'; channel: Channel | null }
  | { dialog: 'edit' | 'test' | 'pause' | 'delete'; provider: Provider }
  | null

interface Move {
  name: string
  channel: Channel
  step: Step
}

export default function Providers() {
  const app = useApp()
  const mayChange = useMay('developer')
  const list = useQuery(`providers ${app.id}`, call => listProviders(app.id, call), { everyMs: REFRESH_MS })
  const ordering = useChange()
  const say = useToast()
  const [open, setOpen] = useState<Open>(null)
  const [focusOn, setFocusOn] = useState<readonly string[]>([])
  const [announcement, setAnnouncement] = useState('')
  // Its codes sign users in to the dashboard; it sends by email alone.
  const isConsole = app.id === CONSOLE_APP_ID
  const providers = list.data ?? []
  const taken = providers.map(({ name }) => name)
  const ofChannel = (channel: Channel) => providers.filter(provider => provider.channel === channel)
  // The API refuses a change of one whose type it does not know, so the others are ordered and split among themselves.
  const changeable = (channel: Channel, all: readonly Provider[] = providers) =>
    all.filter(provider => provider.channel === channel && isKnown(provider))

  // A button that moved with its row, or that is gone with it, has lost the focus: the first of these that can take it gets it.
  useEffect(() => {
    if (focusOn.length === 0 || open !== null) return
    const buttons = focusOn.map(id => document.getElementById(id))
    buttons.find(button => button instanceof HTMLButtonElement && !button.disabled)?.focus()
    setFocusOn([])
  }, [focusOn, open])

  // A second press may come while the first move is saved: it waits, and moves what the first one left.
  const waitingMoves = useRef<Move[]>([])
  const move = (next: Move) => {
    waitingMoves.current.push(next)
    return ordering.run(async () => {
      let all = providers
      try {
        while (waitingMoves.current.length > 0) {
          for (const one of waitingMoves.current.splice(0)) all = await makeMove(all, one)
          await list.reload()
        }
      } catch (thrown) {
        waitingMoves.current = []
        await list.reload()
        throw thrown
      }
    })
  }

  async function makeMove(all: readonly Provider[], { name, channel, step }: Move): Promise<Provider[]> {
    const before = changeable(channel, all)
    const positions = positionsAfterMove(before, name, step)
    const after = withPositions(all, positions)
    list.replace(after)
    setFocusOn([moveButtonId(name, step), moveButtonId(name, step === 'up' ? 'down' : 'up')])
    const inChannel = after.filter(provider => provider.channel === channel)
    const place = inChannel.findIndex(provider => provider.name === name) + 1
    setAnnouncement(`${name} is now number ${place} of ${inChannel.length} for ${channelName(channel)}.`)
    await savePositions(app.id, before, positions)
    return after
  }

  /** Whether no other provider of its channel sends. */
  const isAlone = ({ name, channel }: Provider) =>
    !ofChannel(channel).some(other => other.name !== name && sends(other))
  const setPaused = async (provider: Provider, change: { paused: boolean; confirm?: true }) => {
    await changeProvider(app.id, provider, change)
    await list.reload()
    say(`${provider.name} was ${change.paused ? 'paused' : 'resumed'}.`)
  }
  const pause = async (provider: Provider) => {
    const ask = () => setOpen({ dialog: 'pause', provider })
    if (isAlone(provider)) return ask()
    await ordering.run(() =>
      setPaused(provider, { paused: true }).catch(thrown => {
        // The others may have been paused since the list was loaded. The server wants the last one of the console to be confirmed.
        if (!Problem.from(thrown).fields.has('paused')) throw thrown
        ask()
      }),
    )
  }
  const split = (channel: Channel, name: string, country: string) =>
    ordering.run(async () => {
      const all = changeable(channel)
      const provider = all.find(one => one.name === name)
      if (!provider) return
      const { countries, positions } = splitByCountry(all, name, country)
      await changeProvider(app.id, provider, { countries })
      await savePositions(app.id, all, positions)
      await list.reload()
      say(`Numbers of ${countryName(country)} go through ${name} first.`)
    })

  const close = () => setOpen(null)
  const saved = async (provider: Provider) => {
    const isNew = !taken.includes(provider.name)
    await list.reload()
    close()
    say(isNew ? `${provider.name} was added. Test it with a message to yourself.` : `${provider.name} was saved.`)
  }
  const remove = async (provider: Provider) => {
    const { name } = provider
    // Where the others were paused since the list was loaded, the dialog says so before the console's last one is deleted.
    await deleteProvider(app.id, name, isAlone(provider)).catch(async thrown => {
      await list.reload()
      throw thrown
    })
    await list.reload()
    setFocusOn([ADD_BUTTON_ID])
    say(`${name} was deleted.`)
  }

  const item = (provider: Provider) => {
    const { name, channel } = provider
    const movable = changeable(channel)
    const mover = (step: Step, end: Provider | undefined) =>
      provider === end || !isKnown(provider) ? null : () => move({ name, channel, step })
    return (
      <ProviderItem
        key={name}
        provider={provider}
        appId={app.id}
        alone={isAlone(provider)}
        actions={
          mayChange
            ? {
                up: mover('up', movable[0]),
                down: mover('down', movable.at(-1)),
                test: () => setOpen({ dialog: 'test', provider }),
                pause: () => void pause(provider),
                resume: () => void ordering.run(() => setPaused(provider, { paused: false })),
                edit: () => setOpen({ dialog: 'edit', provider }),
                remove: () => setOpen({ dialog: 'delete', provider }),
              }
            : null
        }
      />
    )
  }

  const isEmpty = list.data !== undefined && providers.length === 0
  const without = CHANNEL_OPTIONS.filter(
    ({ value }) => (!isConsole || value === 'email') && changeable(value).length === 0,
  )
  const addButton = (
    <Button
      look="primary"
      id={ADD_BUTTON_ID}
      onClick={() => setOpen({ dialog: 'add', channel: isConsole ? 'email' : null })}
    >
      Add provider
    </Button>
  )
  return (
    <Screen
      title="Providers"
      lead="The accounts that carry the messages of live keys. Each channel tries its providers from top to bottom."
      actions={mayChange && !isEmpty && list.data !== undefined ? addButton : undefined}
    >
      {isConsole && <ConsoleNotice hasEmail={ofChannel('email').some(sends)} loaded={list.data !== undefined} />}
      {!mayChange && <Notice>{onlyRole('developer', 'change and test providers')}</Notice>}
      <Reading of={list} what="providers" />
      {ordering.problem && <ProblemNotice problem={ordering.problem} />}
      {isEmpty && (
        <Empty title="Test keys need no provider; live keys do.">
          <p>
            {isConsole
              ? 'First, add the mail server that sends the sign-in codes. Then send yourself a test message.'
              : 'First, add the account that you have with a vendor of SMS, WhatsApp, Telegram or email. Then send yourself a test message.'}
          </p>
          {mayChange && <div class="providers-first">{addButton}</div>}
        </Empty>
      )}
      {CHANNEL_OPTIONS.filter(({ value }) => ofChannel(value).length > 0).map(({ value, label }) => (
        <Card key={value} title={label}>
          <ol class="providers-list" aria-label={`${label} providers`}>
            {ofChannel(value).map(item)}
          </ol>
          {mayChange && value !== 'email' && (
            <CountrySplit providers={changeable(value)} onSplit={(name, country) => void split(value, name, country)} />
          )}
        </Card>
      ))}
      {!isEmpty && list.data !== undefined && without.length > 0 && (
        <Card title="Without a provider" lead="Live keys cannot send on these channels.">
          <ul class="providers-without" aria-label="Channels without a provider">
            {without.map(({ value, label }) => (
              <li key={value}>
                {label}
                {mayChange && (
                  <Button look="quiet" onClick={() => setOpen({ dialog: 'add', channel: value })}>
                    Add {label} provider
                  </Button>
                )}
              </li>
            ))}
          </ul>
        </Card>
      )}
      <p class="unseen" role="status">
        {announcement}
      </p>
      {open?.dialog === 'add' && (
        <ProviderDialog provider={null} channel={open.channel} taken={taken} onSaved={saved} onClose={close} />
      )}
      {open?.dialog === 'edit' && (
        <ProviderDialog provider={open.provider} channel={null} taken={taken} onSaved={saved} onClose={close} />
      )}
      {open?.dialog === 'test' && <TestDialog provider={open.provider} onClose={close} />}
      {open?.dialog === 'pause' && (
        <Confirm
          title={`Pause ${open.provider.name}?`}
          action="Pause provider"
          perform={() => setPaused(open.provider, { paused: true, confirm: true })}
          onClose={close}
        >
          <p>{stopWords(open.provider.channel, isConsole)}</p>
          <p>Receipts of earlier messages still count. Resume it at any time.</p>
        </Confirm>
      )}
      {open?.dialog === 'delete' && (
        <Confirm
          title={`Delete ${open.provider.name}?`}
          action="Delete provider"
          perform={() => remove(open.provider)}
          onClose={close}
        >
          <p>{deletionWords(open.provider, isAlone(open.provider), isConsole)}</p>
          <p>Its settings and secrets are erased. Receipts for messages that are under way are no longer understood.</p>
        </Confirm>
      )}
    </Screen>
  )
}

const sends = (provider: Provider): boolean => !provider.paused && isKnown(provider)

function ConsoleNotice({ hasEmail, loaded }: { hasEmail: boolean; loaded: boolean }) {
  if (!loaded) return null
  return hasEmail ? (
    <Notice>
      This app sends the codes with which people sign in to this dashboard. Its email provider sends them.
    </Notice>
  ) : (
    <Notice tone="warning">
      This app sends the codes with which people sign in to this dashboard. Until it has an email provider that sends,
      codes stay in the sandbox, and in production nothing but an operator token signs in.
    </Notice>
  )
}
