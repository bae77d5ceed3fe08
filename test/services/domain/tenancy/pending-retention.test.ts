// A shorter retention is in force a day after it was asked for. All follows from what is stored and the time.
import { expect } from 'chai'
import { DAY_MS } from '../../../../infra/time.ts'
import type { App } from '../../../../services/domain/tenancy/documents.ts'
import {
  askedSettings,
  pendingRetention,
  settingsAt,
  storedSettings,
} from '../../../../services/domain/tenancy/pending-retention.ts'
import type { SettingsInput } from '../../../../services/domain/tenancy/settings.ts'

type Stored = Required<Pick<App, 'settings' | 'pending_retention'>>

const NOW = 1_000 * DAY_MS
const IN_A_DAY = NOW + DAY_MS
const stored = (settings: SettingsInput, days?: number, effective_at = IN_A_DAY): Stored => ({
  settings,
  pending_retention: days === undefined ? null : { retention_days: days, effective_at },
})

describe('a shorter retention', () => {
  const cases: [what: string, before: Stored, asked: SettingsInput, after: Stored][] = [
    ['waits a day', stored({ retention_days: 20 }), { retention_days: 7 }, stored({ retention_days: 20 }, 7)],
    ['than the default waits a day', stored({}), { retention_days: 29 }, stored({}, 29)],
    ['by a reset to the default waits a day', stored({ retention_days: 60 }), {}, stored({ retention_days: 60 }, 30)],
    [
      'waits alone: other settings are stored at once',
      stored({ locale: 'de' }),
      { retention_days: 7, locale: 'fr' },
      stored({ locale: 'fr' }, 7),
    ],
    [
      'that is asked for again keeps its time',
      stored({}, 7, NOW + 1),
      { retention_days: 7, locale: 'fr' },
      stored({ locale: 'fr' }, 7, NOW + 1),
    ],
    ['in place of another waits a day of its own', stored({}, 7, NOW + 1), { retention_days: 14 }, stored({}, 14)],
    ['is undone by the retention in force', stored({}, 7), { retention_days: 30 }, stored({ retention_days: 30 })],
    ['is undone by a longer one', stored({}, 7), { retention_days: 31 }, stored({ retention_days: 31 })],
    ['is undone by a reset', stored({}, 7), {}, stored({})],
    [
      'than one that came into force waits',
      stored({ retention_days: 20 }, 7, NOW),
      { retention_days: 3 },
      stored({ retention_days: 7 }, 3),
    ],
    [
      'that is in force is stored as any other',
      stored({ retention_days: 20 }, 7, NOW),
      { retention_days: 7, locale: 'de' },
      stored({ retention_days: 7, locale: 'de' }),
    ],
    [
      'that came into force is followed by a longer one at once',
      stored({ retention_days: 20 }, 7, NOW),
      { retention_days: 8 },
      stored({ retention_days: 8 }),
    ],
  ]
  for (const [what, before, asked, after] of cases)
    it(what, () => {
      expect(storedSettings(before, asked, NOW)).to.deep.equal(after)
    })

  it('is in force from its time on', () => {
    const app = stored({ retention_days: 20, locale: 'de' }, 7)
    expect(settingsAt(app, IN_A_DAY - 1)).to.deep.equal({ retention_days: 20, locale: 'de' })
    expect(pendingRetention(app, IN_A_DAY - 1)).to.deep.equal({ retention_days: 7, effective_at: IN_A_DAY })
    expect(settingsAt(app, IN_A_DAY)).to.deep.equal({ retention_days: 7, locale: 'de' })
    expect(pendingRetention(app, IN_A_DAY)).to.equal(null)
  })

  it('stays when other settings are changed', () => {
    const app = stored({ retention_days: 20 }, 7)
    const asked = { ...askedSettings(app), locale: 'de' }
    expect(storedSettings(app, asked, NOW + 5)).to.deep.equal(stored({ retention_days: 20, locale: 'de' }, 7))
  })
})
