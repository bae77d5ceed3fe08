// The address names an app or a company that the caller may not see, or that does not exist. Which of the two is not told.

import type { Tenant } from '../data/tenant.tsx'
import { Empty } from '../ui/empty.tsx'
import { Screen } from '../ui/screen.tsx'

export function Missing({ what, id }: NonNullable<Tenant['missing']>) {
  return (
    <Screen title={what === 'app' ? 'There is no such app' : 'There is no such company'}>
      <Empty
        title={`The address names ${what === 'app' ? 'an app' : 'a company'} that does not exist, or that you may not see.`}
      >
        <p>
          <code>{id}</code>
        </p>
        <p>
          Ask who gave you the link, or sign in as somebody who may see it.{' '}
          <a href="/overview">Go to the app used last</a>
        </p>
      </Empty>
    </Screen>
  )
}
