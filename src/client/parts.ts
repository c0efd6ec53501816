/** What ready-made components draw, without a framework: the ways to sign in that the server offers, and what to say when one fails. */
import type { Client } from './client.ts'
import type { FlowResult } from './protocol.ts'

/** One input of a form. */
export interface ChoiceField {
  name: string
  label: string
  /** Attributes of the input besides `name` and `id`: `type`, `autocomplete`, `required` … */
  attributes: Record<string, string | number | boolean>
}
/** One way to sign in. */
export interface Choice {
  id: string
  /** Name of the provider. */
  name: string
  type: string
  /** Text of its button. */
  label: string
  fields: ChoiceField[]
}

/** Texts of the components. Messages are looked for as `<error>.<code>`, then `<error>`, then `failed`. */
export interface PartTexts {
  signIn: string
  signOut: string
  account: string
  signInWith(name: string): string
  link(name: string): string
  addPasskey: string
  passkeyAdded: string
  messages: Readonly<Record<string, string>>
}

const english: PartTexts = {
  signIn: 'Sign in',
  signOut: 'Sign out',
  account: 'Account',
  signInWith: (name) => `Sign in with ${name}`,
  link: (name) => `Connect ${name}`,
  addPasskey: 'Add a passkey',
  passkeyAdded: 'The passkey was added.',
  messages: {
    failed: 'That did not work. Please try again.',
    cancelled: 'That was cancelled or took too long. You can try again.',
    CredentialsSignin: 'Check what you typed and try again.',
    AccessDenied: 'You may not sign in.',
    OAuthAccountNotLinked: 'This address has an account already. Sign in the way you did before.',
  },
}

/** The English texts, with the texts of the app over them. */
export function partTexts(own: Partial<PartTexts> = {}): PartTexts {
  return { ...english, ...own, messages: { ...english.messages, ...own.messages } }
}

// Not of an input: code, styles, and what would send the form elsewhere.
const refusedAttributes = /^(?:on.*|style|class|id|name|label|form.*|src.*|href)$/i

/** The ways to sign in that the server offers; those without a form of theirs are left out. Throws AuthClientError. */
export async function signInChoices(client: Client, texts: PartTexts = english): Promise<Choice[]> {
  const providers = Object.values(await client.getProviders()).filter(({ form }) => !form?.hidden)
  return providers.map(({ id, name, type, form }) => ({
    id,
    name,
    type,
    label: form?.submit ?? texts.signInWith(name),
    fields: Object.entries(form?.fields ?? {}).map(([field, { label = field, ...given }]) => ({
      name: field,
      label,
      attributes: Object.fromEntries(
        Object.entries(given).filter(
          (entry): entry is [string, string | number | boolean] => entry[1] !== undefined && !refusedAttributes.test(entry[0]),
        ),
      ),
    })),
  }))
}

/** Signs in with what a form has. Answers what went wrong, in words; undefined: the browser is on its way to where the server said. */
export async function submitChoice(
  client: Client,
  { id }: Choice,
  form: HTMLFormElement,
  texts: PartTexts,
  redirectTo?: string,
): Promise<string | undefined> {
  return runFlow(texts, async () => {
    const fields = Object.fromEntries(new FormData(form))
    const result = await client.signIn(id, { ...fields, redirectTo, redirect: false })
    if (result?.ok) location.assign(result.url)
    return result
  })
}

/** Adds a passkey to the signed-in user. Returns a message if it fails. */
export async function addPasskey(client: Client, provider: string, texts: PartTexts): Promise<string | undefined> {
  return runFlow(texts, () => client.registerPasskey({ provider }))
}

async function runFlow({ messages }: PartTexts, act: () => Promise<FlowResult | undefined>): Promise<string | undefined> {
  try {
    const result = await act()
    if (!result || result.ok) return undefined
    return messages[`${result.error}.${result.code}`] ?? messages[String(result.error)] ?? messages['failed']
  } catch (error) {
    const cancelled = ['NotAllowedError', 'AbortError'].includes((error as Error).name)
    return messages[cancelled ? 'cancelled' : 'failed']
  }
}
