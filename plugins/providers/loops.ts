import type { EmailConfig, ProviderOf } from 'authkernel/kernel'

/** Options of `loops`; `apiKey` may come from AUTH_LOOPS_KEY. */
export interface LoopsOptions extends Partial<Omit<EmailConfig, 'type' | 'options' | 'server' | 'lib'>> {
  /** Id of the transactional mail made at Loops; it must show the data variable `url`. */
  transactionalId: string
}

/** Mail through the HTTP API of Loops: look, sender and text are those of the transactional mail. */
export default function loops(options: LoopsOptions): ProviderOf<'email'> {
  return {
    id: 'loops',
    name: 'Loops',
    type: 'email',
    maxAge: 600,
    api: {
      url: 'https://app.loops.so/api/v1/transactional',
      headers: { authorization: 'Bearer {apiKey}' },
      body: { transactionalId: '{transactionalId}', email: '{to}', dataVariables: { url: '{url}' } },
    },
    options,
  }
}
export { loops }
