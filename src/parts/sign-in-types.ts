/** What a sign-in knows and does. Types only. */
import type { Machine, PartProps } from './machine.ts'
import type { Method } from './methods.ts'
import type { PartList } from './node.ts'
import type { Problem } from './problem.ts'

/** Properties of `SignIn` and `SignUp`. */
export interface SignInProps extends PartProps {
  /** Where to go afterwards; default: this page. */
  redirectTo?: string | undefined
  /** Called instead of going there, when the user is signed in on this page. Sign-ins at another site still leave it. */
  onSignedIn?: ((url: string) => void) | undefined
}
/** Where a sign-in is. */
export type SignInStep = 'identifier' | 'method' | 'code' | 'factor' | 'mailed' | 'signUp' | 'reset'
/** What a sign-in knows. Never a password or a code. */
export interface SignInData {
  readonly step: SignInStep
  readonly methods: readonly Method[]
  /** Address of the routes of the server. */
  readonly base: string
  /** What was typed first. */
  readonly identifier: string
  /** Providers of the company that the address belongs to, where there are several. */
  readonly realms: readonly Method[] | undefined
  /** Of the step `code`: which plugin checks it. */
  readonly codes: 'codes' | 'phone' | undefined
  /** Of the step `factor`. */
  readonly question: FactorQuestion | undefined
  /** Sends the message of `code` or `mailed` again. */
  readonly again: (() => Promise<Problem | undefined>) | undefined
  /** Fewest characters of a new password; undefined: the server has no passwords. */
  readonly minLength: number | undefined
  /** Whether the browser has passkeys. */
  readonly passkeys: boolean
}
/** What a sign-in waits for after the first factor. */
export interface FactorQuestion {
  readonly factors: readonly string[]
  readonly backupCode: boolean
  /** Whether this browser may be remembered. */
  readonly remember: boolean
}

/** What a sign-in is for: `proof` is a fresh proof of the user who is signed in. */
export type SignInPurpose = 'signIn' | 'signUp' | 'proof'
/** What the view calls. */
export interface SignInActions {
  readonly purpose: SignInPurpose
  readonly machine: Machine<SignInData>
  go(step: SignInStep, change?: Partial<SignInData>): Promise<undefined>
  typeIdentifier(text: string): Promise<Problem | undefined>
  /** Signs in by a method with what its form has. */
  submit(method: Method, values: Readonly<Record<string, string>>): Promise<Problem | undefined>
  signUp(values: Readonly<Record<string, string>>): Promise<Problem | undefined>
  registerPasskey(method: Method, email: string): Promise<Problem | undefined>
  requestReset(values: Readonly<Record<string, string>>): Promise<Problem | undefined>
  /** Goes where a code or a factor led: on with the sign-in, or to its end. */
  arrive(url: string): Promise<Problem | undefined>
  /** Ends the sign-in, and goes where the server said. */
  finish(url: string): void
  /** Where the sign-in begins. */
  firstStep(): SignInStep
  /** Draws a later step, once it was loaded. */
  drawStep: ((actions: SignInActions, data: SignInData) => PartList) | undefined
}
