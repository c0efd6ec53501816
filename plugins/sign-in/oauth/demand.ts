/** What a step-up adds to an authorization request. */
import type { StepUp } from './types.ts'

/** Parameters of the request. `claims`: whether the provider reads that parameter. */
export function demand(parameters: URLSearchParams, { maxAge, acr, loginHint }: StepUp & { loginHint?: string }, claims: boolean): void {
  parameters.set('max_age', String(maxAge))
  if (acr) parameters.set('acr_values', acr.join(' '))
  // Essential: a provider that cannot give it says so in place of giving another one.
  if (acr && claims)
    parameters.set('claims', JSON.stringify({ id_token: { acr: { essential: true, values: acr }, auth_time: { essential: true } } }))
  if (loginHint !== undefined) parameters.set('login_hint', loginHint)
}
