/** The tests that every runtime runs: the kernel, the five provider types and both session strategies. The same files, whole. */
export const testFiles: readonly string[] = [
  'test/kernel/*.test.ts',
  'test/plugins/{oauth,oidc,email,credentials,webauthn,session}*.test.ts',
]
