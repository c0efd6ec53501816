/** A fresh proof on the page that needs it: the sign-in, or the second factor, of the user who is signed in. */
import type { PageClient } from 'authkernel/client'
import type { PartInstance, PartProps } from './machine.ts'
import { createFlow } from './sign-in.ts'
import type { FactorQuestion, SignInData } from './sign-in-types.ts'

interface Methods {
  readonly user: { prove(input: { redirectTo: string }): Promise<{ url: string | null }> }
  readonly twoFactor: { getQuestion(): Promise<FactorQuestion | null> }
}

/** `fresh`: there is nothing to prove, so that the rejection had another reason. `done` runs when the user has proved it. */
export async function createProof(
  page: PageClient,
  id: string,
  readProps: () => PartProps,
  done: () => void,
): Promise<PartInstance<PartProps> | 'fresh'> {
  // Methods of plugins are found by their names at run time.
  const client = page.client as unknown as Methods
  const { pathname, search } = location
  const { url } = await client.user.prove({ redirectTo: pathname + search })
  if (url === null) return 'fresh'
  const path = new URL(url, location.href).pathname
  if (!path.endsWith('/two-factor') && !path.endsWith('/signin')) {
    // The provider of the session, or a page that sets up what is missing: they lead back here.
    location.assign(url)
    return new Promise(() => {})
  }
  const props = (): PartProps & { onSignedIn(): void } => ({ ...readProps(), onSignedIn: done })
  return createFlow(page, id, props, 'proof', async (): Promise<Partial<SignInData>> => {
    const question = path.endsWith('/two-factor') ? await client.twoFactor.getQuestion() : null
    return question ? { step: 'factor', question } : {}
  })
}
