// A bootstrap file with every kind of member, as a basis for variations.
export const fullBootstrapFile = () => ({
  companies: [
    {
      id: 'cmp_acme',
      name: 'Acme',
      balance: 5_000_000,
      apps: [
        {
          id: 'app_shop',
          name: 'Shop',
          settings: { code: { length: 8 }, routing: { countries: { BR: ['whatsapp', 'sms'] } } },
          keys: [
            { id: 'key_a', kind: 'server', mode: 'test', key: 'sk_test_0123456789' },
            { id: 'key_b', key: 'pk_live_0123456789' },
            { id: 'key_made', kind: 'server', mode: 'live' },
          ],
          webhook: { url: 'https://shop.example/hooks', secret: 'whsec_c2VjcmV0LW9mLXRoZS1zaG9w' },
          hooks: { supabase: { test: 'v1,whsec_c2VjcmV0LW9mLXN1cGFiYXNl' } },
          providers: [
            {
              name: 'twilio-main',
              channel: 'sms',
              type: 'twilio',
              config: {
                account_sid: 'AC11111111111111111111111111111111',
                auth_token: 'twilio-auth-token',
                from: '+15550001111',
              },
            },
            { name: 'mail', type: 'smtp', config: { host: 'mail.example.com', from: 'no-reply@example.com' } },
            { name: 'backup', channel: 'sms', type: 'http', config: { url: 'https://gateway.example/send' } },
          ],
        },
        { id: 'app_blog' },
      ],
    },
    { id: 'cmp_other', apps: [{ id: 'app_other', webhook: { url: 'https://other.example/' } }] },
  ],
  prices: [
    { channel: 'sms', country: 'GB', micros: 40_000 },
    { channel: 'sms', country: '*', micros: 90_000 },
    { channel: 'whatsapp', kind: 'reply', country: '*', micros: 5_000 },
  ],
  ip_lists: [
    { class: 'abusive', cidr: '45.95.147.7/24' },
    { class: 'tor', cidr: '2001:db8::1' },
    { class: 'abusive', cidr: '45.95.147.0/24' },
  ],
})
