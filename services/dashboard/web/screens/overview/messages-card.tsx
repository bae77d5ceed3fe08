// All messages of the period by what became of them. The bars are shares of all messages, so together they are as long as one line.
import { BarList } from '../../ui/bar-list.tsx'
import { Card } from '../../ui/card.tsx'
import { countOf } from '../../ui/figure-format.ts'
import type { Figures } from './figures.ts'
import { MESSAGE_OUTCOMES } from './messages.ts'

export function MessagesCard({ shown, range }: { shown: Figures; range: string }) {
  return (
    <div class="overview-messages">
      <Card title="Messages" lead={`${countOf(shown.messages, 'message')} in the last ${range}, resends too.`}>
        <BarList
          label="Messages by outcome"
          whole={shown.messages}
          bars={MESSAGE_OUTCOMES.map(({ name, of, isBad = false }) => ({ key: name, name, count: of(shown), isBad }))}
        />
      </Card>
    </div>
  )
}
