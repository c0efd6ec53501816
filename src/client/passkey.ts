/** Passkeys from a script: loaded at first use, so that pages without passkeys do not carry it. */
import { createPasskey, getPasskey } from './ceremony.ts'
import type { FlowResult, Protocol } from './protocol.ts'

type Ceremony =
  | { action: 'register'; options: PublicKeyCredentialCreationOptionsJSON }
  | { action: 'authenticate'; options: PublicKeyCredentialRequestOptionsJSON }

/** Options, ceremony, callback. `fields` go to both routes: `email`, `action`. */
export async function passkeyFlow(
  protocol: Protocol,
  provider: string,
  fields: Record<string, unknown>,
  redirectTo: string,
  { autofill, signal }: { autofill?: boolean | undefined; signal?: AbortSignal | undefined } = {},
): Promise<FlowResult> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined && value !== null) query.set(name, String(value))
  const { action, options } = await protocol.get<Ceremony>(`/webauthn-options/${encodeURIComponent(provider)}?${query}`)
  const credential = action === 'register' ? await createPasskey(options, signal) : await getPasskey(options, signal, autofill)
  const answer = { ...fields, action, data: JSON.stringify(credential) }
  return protocol.flow(`/callback/${encodeURIComponent(provider)}`, answer, redirectTo)
}
