// Every collection there is, with the indexes its lookups need. Both adapters create them from this table.
import type { ApiKey, App, Company, IpRange, Price, Provider, WebhookEndpoint } from '../tenancy/documents.ts'
import { collection, type Store } from './store.ts'

export const COLLECTIONS = {
  companies: collection<Company>({ indexes: [] }),
  apps: collection<App>({ indexes: [{ fields: { company_id: 1, _id: 1 } }] }),
  keys: collection<ApiKey>({ indexes: [{ fields: { hash: 1 }, unique: true }, { fields: { app_id: 1, _id: 1 } }] }),
  webhooks: collection<WebhookEndpoint>({ indexes: [] }),
  providers: collection<Provider>({ indexes: [{ fields: { app_id: 1, position: 1, _id: 1 } }] }),
  prices: collection<Price>({ indexes: [] }),
  ip_ranges: collection<IpRange>({ indexes: [] }),
}

export type CountersignStore = Store<typeof COLLECTIONS>
