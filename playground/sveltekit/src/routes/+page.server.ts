import { fail } from '@sveltejs/kit'
import { CredentialsSignin } from 'authkernel/bindings/sveltekit'
import { signIn, signOut } from '../auth'
import type { Actions } from './$types'

export const actions: Actions = {
  // The form says `providerId`, and where to go in `redirectTo`.
  signIn: (event) => signIn(event),
  signOut: (event) => signOut(event, { redirectTo: '/' }),
  password: async (event) => {
    const { username, password } = Object.fromEntries(await event.request.formData())
    try {
      await signIn(event, 'credentials', { fields: { username, password }, redirectTo: '/' })
    } catch (error) {
      if (error instanceof CredentialsSignin) return fail(401, { code: error.code })
      // SvelteKit's redirect is thrown, too.
      throw error
    }
  },
}
