/** Two exports for the test of the API reference: one has a sentence, the other has none. */

/** Has a sentence. */
export const said = 1
export const unsaid = 2
