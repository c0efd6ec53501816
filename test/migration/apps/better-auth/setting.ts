/** What both apps have. */
export interface Setting {
  database: { dialect: object; type: 'sqlite' | 'postgres' }
  origin: string
  secret: string
  provider: { issuer: string; clientId: string; clientSecret: string }
  mails: { to: string; text: string }[]
}
