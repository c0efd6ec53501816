export async function migrate(): Promise<never> {
  throw new Error('x')
}
