// The dead letters of one queue: to look at, to requeue and to drop, some or all.
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, bodyOf, type Schemas } from '../../api/client.ts'
import { useChange } from '../../data/use-change.ts'
import { usePages } from '../../data/use-pages.ts'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Empty } from '../../ui/empty.tsx'
import { countOf } from '../../ui/figure-format.ts'
import { ProblemNotice } from '../../ui/notice.tsx'
import { PagedTable } from '../../ui/paged-table.tsx'
import { RowActions } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useToast } from '../../ui/toasts.tsx'
import { LetterDialog } from './letter-dialog.tsx'

export interface DeadLettersProps {
  queue: string
  /** How many there are, as the list of queues counts them. */
  dead: number
  /** After letters were requeued or dropped. */
  onChanged(): Promise<void>
}

type Drop = 'selected' | 'all'

export function DeadLetters({ queue, dead, onChanged }: DeadLettersProps) {
  const say = useToast()
  const requeuing = useChange()
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [shown, setShown] = useState<Schemas['DeadLetter'] | null>(null)
  const [dropping, setDropping] = useState<Drop | null>(null)
  const pages = usePages(`dead letters ${queue}`, (page, call) =>
    bodyOf(api.GET('/admin/v1/queues/{queue}/dead', { params: { path: { queue }, query: page }, ...call })),
  )
  useReloadOnChange(dead, pages.reload)

  const listed = (pages.data?.items ?? []).map(({ id }) => id)
  const ids = listed.filter(id => selected.has(id))
  const params = { path: { queue } }
  const bodyFor = (which: Drop) => (which === 'all' ? { all: true as const } : { ids })

  async function afterChange(): Promise<void> {
    setSelected(new Set())
    await Promise.all([onChanged(), pages.reload()])
  }
  const requeue = (which: Drop) =>
    requeuing.run(async () => {
      const call = api.POST('/admin/v1/queues/{queue}/dead/requeue', { params, body: bodyFor(which) })
      const { requeued } = await bodyOf(call)
      say(`${countOf(requeued, 'letter')} requeued.`)
      await afterChange()
    })
  async function drop(which: Drop): Promise<void> {
    const call = api.POST('/admin/v1/queues/{queue}/dead/drop', { params, body: bodyFor(which) })
    const { dropped } = await bodyOf(call)
    say(`${countOf(dropped, 'letter')} dropped.`)
    await afterChange()
  }
  const toggle = (id: string) => {
    const next = new Set(selected)
    if (!next.delete(id)) next.add(id)
    setSelected(next)
  }

  const isEmpty = listed.length === 0 && pages.number === 1 && pages.next === undefined
  return (
    <Card
      title={`Dead letters of ${queue}`}
      lead="Fix the cause first, then requeue. Handling a message twice does no harm: consumers know it by its id."
      actions={
        pages.data &&
        !isEmpty && (
          <>
            <Button busy={requeuing.busy} onClick={() => requeue('all')}>
              Requeue all
            </Button>
            <Button look="danger" onClick={() => setDropping('all')}>
              Drop all
            </Button>
          </>
        )
      }
    >
      {requeuing.problem && <ProblemNotice problem={requeuing.problem} />}
      {!isEmpty && pages.data && (
        <div class="queues-selection">
          <label>
            <input
              type="checkbox"
              checked={ids.length === listed.length && listed.length > 0}
              onChange={event => setSelected(new Set(event.currentTarget.checked ? listed : []))}
            />
            Select all on this page
            <span class="soft">{ids.length > 0 && `${ids.length} selected`}</span>
          </label>
          <div class="actions">
            <Button busy={requeuing.busy} disabled={ids.length === 0} onClick={() => requeue('selected')}>
              Requeue selected
            </Button>
            <Button look="danger" disabled={ids.length === 0} onClick={() => setDropping('selected')}>
              Drop selected
            </Button>
          </div>
        </div>
      )}
      <PagedTable
        caption={`Dead letters of ${queue}`}
        pages={pages}
        // A message that died twice is listed twice, with one id.
        keyOf={({ id, at }) => `${id} ${at}`}
        empty={<Empty title="No dead letters.">Every message of this queue was handled, or waits for its turn.</Empty>}
        columns={[
          {
            name: 'Select',
            quiet: true,
            show: ({ id }) => (
              <input
                type="checkbox"
                aria-label={`Select ${id}`}
                checked={selected.has(id)}
                onChange={() => toggle(id)}
              />
            ),
          },
          { name: 'Message', show: ({ id }) => <code>{id}</code> },
          { name: 'Reason', show: ({ reason }) => <span class="queues-reason">{reason ?? 'not known'}</span> },
          { name: 'Attempts', show: ({ attempts }) => attempts ?? 'not known' },
          { name: 'Died', show: ({ at }) => <Time at={at} none="not known" /> },
          {
            name: 'Actions',
            quiet: true,
            show: letter => (
              <RowActions>
                <Button look="quiet" aria-label={`Open ${letter.id}`} onClick={() => setShown(letter)}>
                  Open
                </Button>
              </RowActions>
            ),
          },
        ]}
      />
      {shown && <LetterDialog queue={queue} letter={shown} onClose={() => setShown(null)} />}
      {dropping && (
        <Confirm
          title={dropping === 'all' ? `Drop all dead letters of ${queue}?` : `Drop ${countOf(ids.length, 'letter')}?`}
          action={dropping === 'all' ? 'Drop all letters' : `Drop ${countOf(ids.length, 'letter')}`}
          perform={() => drop(dropping)}
          onClose={() => setDropping(null)}
        >
          <p>They are gone for good, and their work is not done: a code is not sent, or an event is not sent.</p>
          {dropping === 'all' && <p>This also drops letters on other pages, {countOf(dead, 'letter')} in all.</p>}
        </Confirm>
      )}
    </Card>
  )
}

/** Reads the list again when the number of letters has changed. RabbitMQ shows letters only by taking them for a moment, so they are not
 *  read every few seconds as the numbers are. */
function useReloadOnChange(dead: number, reload: () => Promise<void>): void {
  const known = useRef(dead)
  useEffect(() => {
    if (known.current === dead) return
    known.current = dead
    void reload()
  }, [dead, reload])
}
