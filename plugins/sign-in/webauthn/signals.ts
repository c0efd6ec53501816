/** What password managers are told of the passkeys that are left, and of the name of their user: WebAuthn Level 3, section 5.1.10, the Signal API. */
import { type Content, type Context, fromBase64, type PageTools, type ProviderOf, toBase64Url, type User } from 'authkernel/kernel'
import { readRecord } from './handles.ts'
import { hasNewPasswordProof } from './proof-age.ts'
import { relyingParty } from './relying-party.ts'

/** Of one user handle: the passkeys that are accepted. */
interface CredentialSet {
  userId: string
  allAcceptedCredentialIds: string[]
}

/** An empty element with the facts; the script of the account page hands them to the browser. */
export async function drawSignals(
  ctx: Context,
  { html }: PageTools,
  provider: ProviderOf<'webauthn'>,
  user: User & { id: string },
): Promise<Content> {
  const { id: rpId } = await relyingParty(ctx, provider)
  const rows = await ctx.service('store').listAuthenticatorsByUserId(user.id)
  const byHandle = new Map<string, CredentialSet>()
  for (const { credentialID } of rows) {
    const handle = (await readRecord(ctx, credentialID))?.userHandle
    if (!handle) continue
    const entry = byHandle.get(handle) ?? { userId: handle, allAcceptedCredentialIds: [] }
    entry.allAcceptedCredentialIds.push(toBase64Url(fromBase64(credentialID)))
    byHandle.set(handle, entry)
  }
  const facts = { rpId, accepted: [...byHandle.values()], name: user.email ?? user.name ?? '', displayName: user.name ?? user.email ?? '' }
  // A user who has just typed a password, and has no passkey yet, may get one without a question.
  const wants = rows.length === 0 && (await hasNewPasswordProof(ctx))
  return html`<div hidden data-passkeys="${JSON.stringify(facts)}" ${wants && html` data-create="passkey-add-form"`}></div>`
}

/** Tells password managers what is left, and asks for a passkey after a sign-in with a password. Pages work without it. Facts are in the element with `data-passkeys`. Browsers that lack a part leave it out. */
export const accountScript: string = `(() => {
  const box = document.querySelector('[data-passkeys]');
  const api = window.PublicKeyCredential;
  if (!box || !api) return;
  const { rpId, accepted, name, displayName } = JSON.parse(box.dataset.passkeys);
  // A browser refuses what it cannot use; there is nothing to tell the user.
  const tell = (method, facts) => api[method] && Promise.resolve(api[method]({ rpId, ...facts })).catch(() => {});
  for (const facts of accepted) {
    tell('signalAllAcceptedCredentials', facts);
    tell('signalCurrentUserDetails', { userId: facts.userId, name, displayName });
  }
  const form = document.getElementById(box.dataset.create || '');
  if (form) document.dispatchEvent(new CustomEvent('authkernel:conditional-create', { detail: form }));
})()`
