// The operations that ask for a step-up, in docs/admin-api.md. In: the declared operations, and the page. Out: the page
// with the list as it must be. The text around the list is written by hand.

import { ADMIN_PATH } from '../../services/dashboard/access.ts'
import { OPERATIONS } from '../../services/dashboard/admin-api.ts'
import { stepUpRefusal } from '../../services/dashboard/step-up.ts'

const BEGIN = '<!-- The list is written by npm run openapi, from the operations of the admin API. -->\n\n'

export function withStepUpList(page: string): string {
  const [before, after = ''] = page.split(BEGIN)
  const items = OPERATIONS.filter(({ refusals }) => refusals.includes(stepUpRefusal)).map(
    ({ method, path, summary }) => `- \`${method.toUpperCase()} ${path.replace(ADMIN_PATH, '')}\`: ${summary}\n`,
  )
  return `${before}${BEGIN}${items.join('')}${after.replace(/^(?:- .*\n)*\n?/, '\n')}`
}
