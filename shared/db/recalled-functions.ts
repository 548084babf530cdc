/**
 * Functions of 1.0.0 that builds between releases changed in place, with the digests of the changed texts. Databases of these
 * builds get the released texts back, and later numbers have the changes.
 */
export const recalledFunctions: ReadonlyMap<string, string> = new Map([
  [
    'functions/begin_step_1.sql',
    '60db2824ea3626863a60c9c084ecadab7f07594b9ebf900f00133bdd1a14c92a',
  ],
  [
    'functions/close_steps_1.sql',
    'd083f408c38e938d027d1a6b677abe057cdba1209e85422b8fc04cb80d6a9ddb',
  ],
  ['functions/end_step_1.sql', 'c941ccada13572513e8ae0341d60e6af366c196f851bc362ed8e152d8b683acc'],
  [
    'functions/settle_run_1.sql',
    '76c24c569eaf0642ab3afa93ed4d124cd5b739aaa2d1c54a6aeaa8727291cd64',
  ],
  [
    'functions/write_control_1.sql',
    'afd4805157783cef3628b55bc09af59df7d8d30ca299e6221a25bb26a2a13695',
  ],
  [
    'functions/move_budget_1.sql',
    '6e9cf46ad7e0133d4417880005a25ae4ca5f9414695f2ba9ebc8c4a878125ee7',
  ],
  ['functions/step_room_1.sql', '01ad0d00759b9bddb21f36979f4cede880853051479944ed7353b4dfbdaf2759'],
]);
