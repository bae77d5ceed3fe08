// Companies in the OpenAPI document.
import { type CompanyAnswer, company, companyPage } from '../companies.schemas.ts'
import { createBody, patchBody } from '../companies.ts'
import { adminOperation, ok, PAGE } from './admin-operation.ts'

const createRequest = createBody.meta({ id: 'CreateCompanyRequest', description: 'A new company.' })

const changeRequest = patchBody.meta({ id: 'ChangeCompanyRequest', description: 'Changes a company.' })

export const companyExample: CompanyAnswer = {
  id: 'cmp_01k2m8x4e9s7v3hqz5tnw6yb0c',
  name: 'Acme',
  balance: 5_000_000,
  created_at: '2030-01-01T12:00:00.000Z',
  closed_at: null,
}

export const companyOperations = [
  adminOperation({
    id: 'listCompanies',
    route: ['get', '/companies'],
    summary: 'List companies',
    description: 'The companies that the caller may see, by id.',
    parameters: PAGE,
    answers: [ok(companyPage, 'A page of companies.', { items: [companyExample], next_cursor: null })],
  }),
  adminOperation({
    id: 'createCompany',
    route: ['post', '/companies'],
    summary: 'Create a company',
    description: 'A company has a balance and apps.',
    request: { schema: createRequest, example: { name: 'Acme' } },
    answers: [ok(company, 'The new company.', { ...companyExample, balance: 0 }, 201)],
  }),
  adminOperation({
    id: 'getCompany',
    route: ['get', '/companies/{id}'],
    summary: 'Look a company up',
    description: 'The company with its balance.',
    answers: [ok(company, 'The company.', companyExample)],
  }),
  adminOperation({
    id: 'changeCompany',
    route: ['patch', '/companies/{id}'],
    summary: 'Rename or close a company',
    description:
      "A closed company's keys are refused. Its data is kept until retention. `closed: false` opens it again. Closing and opening need an operator.",
    request: { schema: changeRequest, example: { name: 'Acme Ltd' } },
    answers: [ok(company, 'The company.', { ...companyExample, name: 'Acme Ltd' })],
  }),
]
