// Waits for a process to be ready. In: where it listens. Out: when /readyz answers 200.
import { expect } from 'chai'
import { eventually } from './eventually.ts'

export const untilReady = (url: string): Promise<unknown> =>
  eventually(async () => expect((await fetch(`${url}/readyz`)).status).to.equal(200))
