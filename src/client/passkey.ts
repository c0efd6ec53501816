/** Passkeys from a script: loaded at first use, so that pages without passkeys do not carry it. */
import { createPasskey, getPasskey, makesPasskeysAlone, signalUnknown } from './ceremony.ts'
import type { AuthClientError, FlowResult, Protocol } from './protocol.ts'

export { getPasskey }

type Ceremony =
  | { action: 'register'; options: PublicKeyCredentialCreationOptionsJSON }
  | { action: 'authenticate'; options: PublicKeyCredentialRequestOptionsJSON }

/** Options, ceremony, callback. `fields` go to both routes: `email`, `action`. */
export async function passkeyFlow(
  protocol: Protocol,
  provider: string,
  fields: Record<string, unknown>,
  redirectTo: string,
  {
    autofill,
    signal,
    conditional,
  }: { autofill?: boolean | undefined; signal?: AbortSignal | undefined; conditional?: boolean | undefined } = {},
): Promise<FlowResult & { credential: string }> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined && value !== null) query.set(name, String(value))
  const { action, options } = await protocol.get<Ceremony>(`/webauthn-options/${encodeURIComponent(provider)}?${query}`)
  const credential = action === 'register' ? await createPasskey(options, signal, conditional) : await getPasskey(options, signal, autofill)
  const answer = { ...fields, action, data: JSON.stringify(credential) }
  const result = await protocol.flow(`/callback/${encodeURIComponent(provider)}`, answer, redirectTo)
  const { id } = credential as { id: string }
  if (result.error === 'UnknownPasskey' && action === 'authenticate') await signalUnknown(options.rpId ?? location.hostname, id)
  return { ...result, credential: id }
}

/** What `client.passkeys.add` takes. */
interface AddInput {
  name?: string
  provider?: string
  conditional?: boolean
}

/** `Refusal` is given, so that a page loads no file for the class that both share. `client.passkeys.add`: the new passkey as `list` has it; null when a conditional one was not made. Throws AuthClientError. */
export async function addPasskey(
  protocol: Protocol,
  Refusal: typeof AuthClientError,
  { name, provider = 'passkey', conditional = false }: AddInput = {},
): Promise<unknown> {
  if (conditional && !(await makesPasskeysAlone())) return null
  const fields = { action: 'register', ...(conditional && { conditional: 1 }) }
  const flow = passkeyFlow(protocol, provider, fields, globalThis.location?.href ?? '/', { conditional })
  // A password manager that did not fill in the password makes none, which is no fault.
  const result = await (conditional ? flow.catch((error: unknown) => (isRefusal(error) ? null : Promise.reject(error as Error))) : flow)
  if (!result) return null
  if (!result.ok)
    throw new Refusal(`The passkey was not added: ${result.error ?? result.status}.`, result.status, {
      ...(result.error && { error: result.error }),
    })
  if (name !== undefined) await protocol.call('/passkeys/rename', false, { id: result.credential, name })
  const all = (await protocol.call('/passkeys/list', true, undefined)) as { id: string }[]
  return all.find(({ id }) => id === result.credential) ?? null
}

function isRefusal(error: unknown): boolean {
  return ['NotAllowedError', 'InvalidStateError', 'AbortError'].includes((error as Error).name)
}
