/** Made by ../_bundle.ts: loads a test file by its path from the repository's root. */
declare module 'test-files' {
  const files: Record<string, (() => Promise<unknown>) | undefined>
  export default files
}
