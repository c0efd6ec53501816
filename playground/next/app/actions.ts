'use server'

import { CredentialsSignin } from 'authkernel/bindings/next'
import { signIn, signOut } from '../auth'

export async function withProvider(provider: string, form: FormData): Promise<void> {
  await signIn(provider, form)
}

export async function withPassword(_code: string | undefined, form: FormData): Promise<string | undefined> {
  try {
    form.set('redirectTo', '/')
    await signIn('credentials', form)
  } catch (error) {
    if (error instanceof CredentialsSignin) return error.code
    // Next's redirect is thrown, too.
    throw error
  }
}

export async function leave(): Promise<void> {
  await signOut({ redirectTo: '/' })
}
