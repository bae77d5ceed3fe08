// The viewer's own sessions: where the viewer is signed in, and how to end that.
import { useRef, useState } from 'preact/hooks'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { allPages } from '../../data/all-pages.ts'
import { useMe, useSessionControl } from '../../data/session.tsx'
import { useChange } from '../../data/use-change.ts'
import { usePages } from '../../data/use-pages.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Empty } from '../../ui/empty.tsx'
import { ProblemNotice } from '../../ui/notice.tsx'
import { PagedTable } from '../../ui/paged-table.tsx'
import { type Column, RowActions } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'

type Session = Schemas['Session']

const endSession = (id: string) => bodyOf(api.DELETE('/admin/v1/sessions/{id}', { params: { path: { id } } }))

/** Every session but the one of this page. */
async function endOthers(): Promise<void> {
  for await (const page of allPages(query => bodyOf(api.GET('/admin/v1/sessions', { params: { query } }))))
    for (const { id, current } of page) if (!current) await endSession(id)
}

const browserId = (id: string): string => `browser-of-${id}`
const signInId = (id: string): string => `sign-in-of-${id}`

export function SessionsCard() {
  const me = useMe()
  const { check } = useSessionControl()
  const say = useToast()
  const change = useChange()
  const [open, setOpen] = useState<'others' | 'all' | null>(null)
  const sessions = usePages(`sessions ${me.session_id}`, (query, call) =>
    bodyOf(api.GET('/admin/v1/sessions', { params: { query }, ...call })),
  )
  const hasOthers = sessions.number > 1 || (sessions.data?.items.some(({ current }) => !current) ?? false)

  const list = useRef<HTMLDivElement>(null)

  const end = (session: Session) =>
    change.run(async () => {
      await endSession(session.id)
      say(`The session in ${session.browser} was ended.`)
      await sessions.reload()
      // The button that was pressed goes with its row.
      list.current?.focus()
    })
  const columns: Column<Session>[] = [
    {
      name: 'Browser',
      show: ({ id, browser, current }) => (
        <span>
          <span id={browserId(id)}>{browser}</span> {current && <Badge tone="info">This one</Badge>}
        </span>
      ),
    },
    {
      name: 'Signed in',
      show: ({ id, at }) => (
        <span id={signInId(id)}>
          <Time at={at} />
        </span>
      ),
    },
    { name: 'Last seen', show: ({ last_seen_at }) => <Time at={last_seen_at} /> },
    { name: 'Ends', show: ({ expires_at }) => <Time at={expires_at} /> },
    {
      name: 'Actions',
      quiet: true,
      align: 'right',
      show: session =>
        !session.current && (
          <RowActions>
            <Button
              look="quiet danger"
              busy={change.busy}
              // Many sessions are in the same browser.
              aria-describedby={`${browserId(session.id)} ${signInId(session.id)}`}
              onClick={() => end(session)}
            >
              End
            </Button>
          </RowActions>
        ),
    },
  ]
  return (
    <Card
      title="Your sessions"
      lead="A session ends by itself after two hours without use, and after twelve hours in any case. End those that you do not recognise."
      actions={
        <>
          <Button look="danger" disabled={!hasOthers} onClick={() => setOpen('others')}>
            End all others
          </Button>
          <Button look="danger" onClick={() => setOpen('all')}>
            End all
          </Button>
        </>
      }
    >
      {change.problem && <ProblemNotice problem={change.problem} />}
      <div ref={list} class="team-sessions" tabIndex={-1}>
        <PagedTable
          caption="your sessions"
          columns={columns}
          pages={sessions}
          keyOf={({ id }) => id}
          empty={<Empty title="There is no session." />}
        />
      </div>
      {open === 'others' && (
        <Confirm
          title="End all other sessions?"
          action="End other sessions"
          perform={async () => {
            await endOthers()
            say('All other sessions were ended.')
            await sessions.reload()
          }}
          onClose={() => setOpen(null)}
        >
          <p>You stay signed in here. Everywhere else you have to sign in again.</p>
        </Confirm>
      )}
      {open === 'all' && (
        <Confirm
          title="End all your sessions?"
          action="End all sessions"
          perform={async () => {
            await bodyOf(api.DELETE('/admin/v1/sessions'))
            await check()
          }}
          onClose={() => setOpen(null)}
        >
          <p>This one ends too: you have to sign in again.</p>
        </Confirm>
      )}
    </Card>
  )
}
