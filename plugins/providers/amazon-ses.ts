import type { EmailConfig, ProviderOf } from 'authkernel/kernel'

/** Options of `amazon-ses`: SMTP credentials are made in the SES console and are not an IAM access key. */
export interface AmazonSesOptions extends Partial<Omit<EmailConfig, 'type' | 'options' | 'server' | 'api' | 'apiKey'>> {
  /** `eu-central-1` for example. */
  region: string | undefined
  user: string | undefined
  pass: string | undefined
}

/** Amazon SES over SMTP and TLS: its HTTP API would need a signature over each request. Needs the package nodemailer 7, 8 or 10. */
export default function amazonSes({ region, user, pass, ...options }: AmazonSesOptions): ProviderOf<'email'> {
  return {
    id: 'amazon-ses',
    name: 'Amazon SES',
    type: 'email',
    maxAge: 600,
    server: { host: `email-smtp.${region ?? ''}.amazonaws.com`, port: 465, secure: true, auth: { user, pass } },
    options,
  }
}
export { amazonSes }
