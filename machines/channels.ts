/** The four ways a code can travel. */
export type Channel = 'sms' | 'whatsapp' | 'telegram' | 'email'
