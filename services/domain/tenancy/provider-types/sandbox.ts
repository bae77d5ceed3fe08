import { declareProvider } from './declaration.ts'

export const sandbox = declareProvider({
  label: 'Sandbox',
  about: 'Puts the messages of live keys into the sandbox inbox, for a staging system. Nothing is sent.',
  where: 'There is nothing to enter.',
  config: {},
})
