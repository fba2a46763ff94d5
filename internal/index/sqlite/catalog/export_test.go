package catalog

// StateOrder is the query of StatesIn, without its span and its order.
const StateOrder = stateOrder
