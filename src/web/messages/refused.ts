import { definePageTexts } from './define-page-texts.ts';

/** Texts in place of a page that the user may not see. */
export const refusedTexts = definePageTexts('refused', {
  title: 'You cannot see this page',
  permission: 'It requires the permission “{permission}”. Ask the team’s owner for a role that has it.',
  roles: 'Members with these roles can see it: {roles}.',
  operatorTitle: 'This page is for operators',
  operator: 'Your account does not have the operator role.',
});
