// Every operation of the admin API is in the OpenAPI document, and the document has no other.
import { expect } from 'chai'
import { ADMIN_API } from '../../../services/dashboard/admin-api.ts'
import { settingsPatch } from '../../../services/dashboard/apps/settings-schemas.ts'
import { resolveSettings } from '../../../services/domain/tenancy/settings.ts'
import { closeAdmins, startAdmin } from '../../support/admin-api.ts'
import { onEmbeddedStore } from '../../support/stores.ts'

const documented = ADMIN_API.operations.map(
  ({ method, path }) => `${method.toUpperCase()} ${path.replace('/admin/v1', '')}`,
)

onEmbeddedStore('the OpenAPI document of the admin API', fresh => {
  afterEach(closeAdmins)

  it('has every operation, and no other', async () => {
    const { served } = await startAdmin(await fresh())
    expect(documented).to.have.members(served)
  })
})

describe('the schema of a change of settings', () => {
  it('takes complete settings, null in each member, and no unknown member', () => {
    const settings = resolveSettings({})
    expect(settingsPatch.safeParse(settings).success).to.equal(true)
    const resets = Object.fromEntries(Object.keys(settings).map(name => [name, null]))
    expect(settingsPatch.safeParse(resets).success).to.equal(true)
    expect(settingsPatch.safeParse({ limits: { app: null } }).success).to.equal(true)
    expect(settingsPatch.safeParse({ limits: { apps: null } }).success).to.equal(false)
    expect(settingsPatch.safeParse({ code: { length: 'six' } }).success).to.equal(false)
  })
})
